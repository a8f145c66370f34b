package hop

// What went wrong on the way, told so that a person or a model can act on it.

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// Reason says in our words what kind of fault ended a hop, as a part of a sentence: "the connection was refused". It never
// repeats what the other side sent.
func Reason(err error) string {
	if e, ok := errors.AsType[Fault](err); ok {
		return string(e)
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "there is no such host name"
		}
		return "the host name could not be looked up"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another name"
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return "its certificate is not valid at this time"
		}
		return "its certificate is not valid"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is from an authority that is not trusted here"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not answer with TLS, as https takes"
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return string(Cut)
	}
	return "the connection failed"
}
