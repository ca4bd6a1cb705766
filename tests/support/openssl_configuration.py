"""An OpenSSL configuration that activates the provider under test beside the default one."""

TEXT = """openssl_conf = init
[init]
providers = providers
{fetched}[providers]
default = active
warpseal = warpseal
[active]
activate = 1
[warpseal]
module = {module}
activate = 1
{settings}"""


def configuration(module, settings="", properties=None):
    """settings: lines of the module's section. properties: of all fetches; none if absent."""
    fetched = "" if properties is None else "alg_section = fetched\n[fetched]\n"
    fetched += "" if properties is None else f"default_properties = {properties}\n"
    return TEXT.format(module=module, settings=settings, fetched=fetched)
