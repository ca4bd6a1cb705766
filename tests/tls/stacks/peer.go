// A TLS 1.3 peer of Go's crypto/tls with X25519MLKEM768 alone.
//
//	peer serve CERTIFICATE KEY    prints `port N`; returns each line of a client in upper case
//	peer connect PORT AUTHORITY   sends its input, prints what comes back
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

const patience = 60 * time.Second

func configuration() *tls.Config {
	return &tls.Config{
		MinVersion:       tls.VersionTLS13,
		CurvePreferences: []tls.CurveID{tls.X25519MLKEM768},
	}
}

func answer(connection net.Conn) error {
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		if _, err := fmt.Fprintln(connection, strings.ToUpper(lines.Text())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func serve(certificate, key string) error {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	config := configuration()
	config.Certificates = []tls.Certificate{pair}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		return err
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		if err := answer(connection); err != nil {
			fmt.Println("failed:", err)
		}
	}
}

func connect(port, authority string) error {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return err
	}
	config := configuration()
	config.ServerName = "localhost"
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return errors.New("no certificate in " + authority)
	}
	connection, err := tls.Dial("tcp", "127.0.0.1:"+port, config)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	go io.Copy(connection, os.Stdin)
	_, err = io.Copy(os.Stdout, connection)
	return err
}

func main() {
	err := errors.New("usage: peer serve CERTIFICATE KEY | peer connect PORT AUTHORITY")
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		err = serve(os.Args[2], os.Args[3])
	} else if len(os.Args) == 4 && os.Args[1] == "connect" {
		err = connect(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}
