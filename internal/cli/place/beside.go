// This file is for the commands that work on a data folder beside a server: whether one is there, and where.
package place

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"strconv"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/weburl"
)

// Beside is open for such a command; at is the folder's server, the zero value where none runs or has said where it
// is. Where none runs, a person who thinks that one does has named another folder than serve's, and is told.
func (d DataFlags) Beside(s *cli.Session) (in *install.Install, at datafolder.Server, err error) {
	path, err := d.Path(s)
	if err != nil {
		return nil, at, err
	}
	there, missing := datafolder.Look(path)
	if missing == nil {
		if err := d.servedFrom(there); err != nil {
			return nil, at, err
		}
	}
	if in, err = d.Open(s); err != nil {
		return nil, at, err
	}
	if errors.Is(missing, fs.ErrNotExist) && d.Database == "" {
		s.Err.Printf("note: made the data folder %s; a server on another folder knows nothing of it, name that one with --data or WAYLEAVE_DATA\n", in.Folder.Path())
		return in, at, nil
	}
	return in, d.served(s, in.Folder), nil
}

// Heard is open for such a command that makes no install where none is.
func (d DataFlags) Heard(s *cli.Session) (*install.Install, error) {
	in, err := d.Look(s)
	if err != nil {
		return nil, err
	}
	d.served(s, in.Folder)
	return in, nil
}

// served says where no server runs on the folder. Servers on PostgreSQL have folders of their own, and hear of all that is
// changed in the database.
func (d DataFlags) served(s *cli.Session, folder *datafolder.Folder) datafolder.Server {
	at, running, err := folder.Owner()
	switch {
	case err != nil:
		s.Err.Printf("warning: %v\n", err)
	case !running && d.Database == "":
		s.Err.Printf("note: no `wayleave serve` runs on the data folder %s now (`wayleave mcp` needs none); a server on another folder knows nothing of it, name that one with --data or WAYLEAVE_DATA\n", folder.Path())
	}
	return at
}

// SameListener says whether two listener addresses are one, as far as can be said without looking anything up.
func SameListener(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB {
		return false
	}
	hostA, hostB = listenHost(hostA), listenHost(hostB)
	return hostA == hostB || hostA == "" || hostB == ""
}

// listenHost is a listener's host in one spelling; empty for every address of this machine.
func listenHost(host string) string {
	if host == "localhost" {
		return "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip.IsUnspecified() {
		return ""
	}
	return ip.Unmap().String()
}

// Covers says whether a permit is meant to let the server itself be read, which it never does.
func Covers(permit weburl.Permit, at datafolder.Server) bool {
	own, err := netip.ParseAddrPort(at.Listen)
	if err != nil {
		return false
	}
	ip := own.Addr()
	if ip.IsUnspecified() {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	door := &weburl.Dialer{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}
	hosts := []string{ip.String()}
	if ip.IsLoopback() {
		hosts = append(hosts, "localhost")
	}
	for _, host := range hosts {
		u, err := weburl.Parse("http://" + net.JoinHostPort(host, strconv.Itoa(int(own.Port()))))
		if err == nil && door.CheckURL(u) == nil {
			return true
		}
	}
	return false
}
