"""Texts of an HTML page."""

import html
import re


def texts(markup):
    return " ".join(html.unescape(re.sub("<[^>]*>", "", markup)).split())


def table_rows(markup):
    """Returns the cell texts of every row of every table."""
    return [
        [texts(cell) for cell in re.findall("<t[hd].*?</t[hd]>", line, re.S)]
        for line in re.findall("<tr>.*?</tr>", markup, re.S)
    ]
