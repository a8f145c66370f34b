// This file judges addresses of PostgreSQL, and speaks of them without their password.
package sqldb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var errAddress = errors.New("the database's address cannot be read; give postgres://USER@HOST:PORT/NAME, with the password percent-encoded or, better, in the variable PGPASSWORD or in a password file")

// wellFormed refuses what would be read in a way that its writer did not mean: the unencoded # of a password cuts the
// address, and part of the password becomes the name of a host.
func wellFormed(address string) error {
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		if !strings.Contains(address, "=") {
			return errAddress
		}
		return nil
	}
	if u, err := url.Parse(address); err != nil || u.Fragment != "" || strings.HasSuffix(address, "#") {
		return errAddress
	}
	return nil
}

// HasPassword says whether an address itself carries a password, which a process list or a shell's history may show.
func HasPassword(address string) bool {
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		_, has := u.User.Password()
		return has || u.Query().Has("password") || u.Query().Has("sslpassword")
	}
	// key=value text, or an address that cannot be read: then the word is enough.
	return strings.Contains(address, "password")
}

// Unprotected tells of a database on another host that is reached without verified TLS, or could be: what is exchanged
// with it can be read or changed on the way. It gives a sentence for a person, or nothing.
func Unprotected(address string) (string, error) {
	config, err := parse(address)
	if err != nil {
		return "", err
	}
	type way struct {
		host string
		tls  *tls.Config
	}
	ways := []way{{config.Host, config.TLSConfig}}
	for _, f := range config.Fallbacks {
		ways = append(ways, way{f.Host, f.TLSConfig})
	}
	for _, w := range ways {
		if local(w.host) || verified(w.tls) {
			continue
		}
		return fmt.Sprintf("the database on %s is reached without verified TLS: its traffic can be read and changed on the way; add sslmode=verify-full to its address, and sslrootcert=FILE for a certificate of your own", w.host), nil
	}
	return "", nil
}

// verified: verify-full checks the name too, verify-ca the certificate alone; sslmode=require and less check nothing.
func verified(c *tls.Config) bool {
	return c != nil && (!c.InsecureSkipVerify || c.VerifyPeerCertificate != nil)
}

func local(host string) bool {
	if filepath.IsAbs(host) || strings.HasPrefix(host, "@") || strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// connectFault says why no connection could be made, in words that cannot hold the password.
func connectFault(config *pgx.ConnConfig, err error) error {
	where := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	if filepath.IsAbs(config.Host) {
		where = config.Host
	}
	return fmt.Errorf("%w: connect to %s: %s", ErrUnavailable, where, cause(err))
}

func cause(err error) string {
	var refused *pgconn.PgError
	var name *net.DNSError
	var number syscall.Errno
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("%s (%s)", refused.Message, refused.Code)
	case errors.As(err, &name):
		return "the host's name is not known"
	case errors.As(err, &certificate):
		return "its certificate is not trusted: " + certificate.Err.Error()
	case errors.Is(err, os.ErrNotExist):
		return "no server's socket is there"
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return "it did not answer in time"
	}
	return "the server does not speak as expected; look at sslmode and at the port"
}
