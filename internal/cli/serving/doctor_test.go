package serving

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/testsite"
)

// TestTM093DoctorComparesUsers: under one user, two, and root.
func TestTM093DoctorComparesUsers(t *testing.T) {
	for _, c := range []struct {
		owner, me, status string
		others            bool
	}{
		{"1000", "1000", "warn", false},
		{"0", "0", "warn", false},
		{"990", "1000", "ok", true},
		{"0", "1000", "ok", true},
		{"990", "0", "info", false},
		{"", "1000", "", false},
		{"990", "", "", false},
	} {
		d := &checkup{}
		others := d.users(c.owner, c.me, "it is of")
		status := ""
		for _, k := range d.Checks {
			status = k.Status
		}
		if others != c.others || status != c.status {
			t.Errorf("owner %q, me %q: %v, %+v", c.owner, c.me, others, d.Checks)
		}
	}
}

// TestTM093OwnerSaysAsWhomItRuns: what it announced counts before whose the folder is.
func TestTM093OwnerSaysAsWhomItRuns(t *testing.T) {
	folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	d := &checkup{}
	if d.shut(folder) || len(d.Checks) != 1 || !strings.HasPrefix(d.Checks[0].Detail, "the data folder belongs to this user") {
		t.Errorf("nobody serves: %+v", d.Checks)
	}
	release, err := folder.Own()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := folder.Announce(datafolder.Server{URL: "http://127.0.0.1:1/mcp", Listen: "127.0.0.1:1", User: datafolder.Me()}); err != nil {
		t.Fatal(err)
	}
	d = &checkup{}
	if d.shut(folder) || len(d.Checks) != 1 || !strings.HasPrefix(d.Checks[0].Detail, "the owner process runs as this user") {
		t.Errorf("this user serves: %+v", d.Checks)
	}
}

func TestDoctorJudgesClocks(t *testing.T) {
	for _, c := range []struct {
		ahead, waited time.Duration
		status        string
	}{
		{0, 0, "ok"}, {ledger.MaxSkew, 0, "ok"}, {-ledger.MaxSkew, 0, "ok"}, {ledger.MaxSkew + time.Millisecond, 0, "fail"}, {-ledger.MaxSkew - time.Millisecond, 0, "fail"},
		// Half of a slow answer may lie on either way.
		{ledger.MaxSkew + time.Second, 2 * time.Second, "ok"}, {ledger.MaxSkew + 2*time.Second, 2 * time.Second, "fail"},
	} {
		d := &checkup{}
		if clock(d, c.ahead, c.waited); d.Checks[0].Status != c.status {
			t.Errorf("%s over %s: %+v", c.ahead, c.waited, d.Checks)
		}
	}
}

// TestDoctorAsksTheEgressProxy: what would keep every page away is said before an agent meets it, without the credentials.
func TestDoctorAsksTheEgressProxy(t *testing.T) {
	saying := func(status int) *testsite.Site {
		return testsite.Serve(t, testsite.Always(testsite.Answer{Status: status}))
	}
	for _, c := range []struct {
		proxy        *testsite.Site
		user         string
		status, says string
	}{
		{saying(503), "anna:canary@", "ok", "it can be reached"},
		{saying(403), "", "ok", "it can be reached"},
		{saying(407), "anna:canary@", "fail", "does not accept the credentials"},
		{saying(407), "", "fail", "none are set"},
		{testsite.Serve(t, func(c *testsite.Conn) { c.Send("SSH-2.0-noise\r\n") }), "anna:canary@", "fail", "does not answer as a proxy does"},
		{nil, "anna:canary@", "warn", "the connection was refused"},
	} {
		address := testsite.Unused(t)
		if c.proxy != nil {
			address = c.proxy.Addr
		}
		d := Doctor{}
		d.EgressProxy = new("http://" + c.user + address)
		report := &checkup{}
		d.egress(t.Context(), report)
		last := report.Checks[len(report.Checks)-1]
		if last.Name != "proxy" || last.Status != c.status || !strings.Contains(last.Detail, c.says) {
			t.Errorf("%+v, want %s and %q", last, c.status, c.says)
		}
		for _, k := range report.Checks {
			if strings.Contains(k.Detail, "canary") {
				t.Errorf("the credentials are shown: %+v", k)
			}
		}
	}
}
