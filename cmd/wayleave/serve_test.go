package main

// The server's listeners: who reaches what, and whose word counts.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
)

// get asks for a page, with a client that trusts pool.
func get(t *testing.T, address string, pool *x509.CertPool, header http.Header) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestMetricsAreServedApartFromTheAgentsDoor(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	begin(t, program(t), nil, "serve", "--listen", "127.0.0.1:0", "--data", data, "--metrics-listen", "127.0.0.1:"+port)
	place := owned(t, folder)
	if status, text := get(t, "http://127.0.0.1:"+port+"/metrics", nil, nil); status != http.StatusOK || !strings.Contains(text, "wayleave_build_info") || !strings.Contains(text, "wayleave_may_send 1") {
		t.Errorf("metrics: %d %.300s", status, text)
	}
	if _, text := get(t, "http://"+place.Listen+"/metrics", nil, nil); strings.Contains(text, "wayleave_build_info") {
		t.Error("the agents' door serves metrics")
	}
	if status, _ := get(t, "http://127.0.0.1:"+port+"/mcp", nil, nil); status == http.StatusUnauthorized {
		t.Error("the metrics' listener serves agents")
	}
	stdout, _, code := commandLine(t, "", nil, "doctor", "--data", data, "--listen", place.Listen, "--metrics-listen", "127.0.0.1:"+port)
	if code != cli.ExitDone || !strings.Contains(stdout, "127.0.0.1:"+port+" answers (200)") || !strings.Contains(stdout, "the owner process runs as this user") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for _, address := range []string{"0.0.0.0:0", ":9477", "nonsense", "192.0.2.1:9477"} {
		if _, stderr, code := commandLine(t, "", nil, "serve", "--listen", "127.0.0.1:0", "--data", data, "--metrics-listen", address); code != cli.ExitUsage || !strings.Contains(stderr, "--metrics-listen") {
			t.Errorf("%s: exit %d, %s", address, code, stderr)
		}
	}
}

// TestTM051ForwardedAddressesAreOfTrustedProxiesAlone: "last used from" is who came, unless a proxy that was named says
// otherwise.
func TestTM051ForwardedAddressesAreOfTrustedProxiesAlone(t *testing.T) {
	path := program(t)
	for _, c := range []struct {
		flags []string
		from  string
	}{
		{nil, "127.0.0.1"},
		{[]string{"--trusted-proxy", "192.0.2.0/24"}, "127.0.0.1"},
		{[]string{"--trusted-proxy", "127.0.0.0/8"}, "198.51.100.7"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		folder, err := datafolder.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		token, _, _ := commandLine(t, "", nil, "agents", "token", "new", "alice", "--data", data)
		server := begin(t, path, nil, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, c.flags...)...)
		place := owned(t, folder)
		get(t, "http://"+place.Listen+"/mcp", nil, http.Header{"Authorization": {"Bearer " + strings.TrimSpace(token)}, "X-Forwarded-For": {"198.51.100.7"},
			"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"evil.example"}})
		if err := server.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := server.ended(); err != nil {
			t.Errorf("%v: %v", c.flags, err)
		}
		stdout, _, _ := commandLine(t, "", nil, "agents", "token", "list", "alice", "--json", "--data", data)
		var tokens []struct {
			From string `json:"last_from"`
		}
		if err := json.Unmarshal([]byte(stdout), &tokens); err != nil || len(tokens) != 1 || tokens[0].From != c.from {
			t.Errorf("%v: %s (%v), want %s", c.flags, stdout, err, c.from)
		}
	}
}

// certificate makes one for an address, and gives its files and a pool that trusts it.
func certificate(t *testing.T, address string) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "wayleave test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(address)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return certFile, keyFile, pool
}

// TestTM051WithTLSNothingIsServedInTheClear, and the links that people and agents get say https.
func TestTM051WithTLSNothingIsServedInTheClear(t *testing.T) {
	cert, key, pool := certificate(t, "127.0.0.1")
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, program(t), nil, "serve", "--listen", "127.0.0.1:0", "--data", data, "--tls-cert", cert, "--tls-key", key)
	place := owned(t, folder)
	if status, text := get(t, "https://"+place.Listen+"/readyz", pool, nil); status != http.StatusOK {
		t.Errorf("over TLS: %d %s", status, text)
	}
	if status, text := get(t, "http://"+place.Listen+"/readyz", nil, nil); status == http.StatusOK {
		t.Errorf("in the clear: %d %s", status, text)
	}
	if l, _ := signIn(t, "--data", data); !strings.HasPrefix(l.URL, "https://") || !l.Served {
		t.Errorf("the sign-in link: %+v", l)
	}
	if stdout, stderr, code := commandLine(t, "", nil, "attach", "generic", "--data", data); code != cli.ExitDone || !strings.Contains(stdout, `"https://`+place.Listen+"/mcp") {
		t.Errorf("the block: exit %d, %s%s", code, stdout, stderr)
	}
	stdout, _, code := commandLine(t, "", nil, "doctor", "--data", data, "--listen", place.Listen, "--tls-cert", cert, "--tls-key", key)
	if code != cli.ExitDone || !strings.Contains(stdout, "ready at "+place.Listen) {
		t.Errorf("exit %d: %s", code, stdout)
	}
}
