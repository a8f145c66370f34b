package binding

import "testing"

func TestParseReadsAFingerprintBack(t *testing.T) {
	b := Binding{Agent: "agent_1", GrantsVersion: 3, Capability: "read", ConnectionOwner: Install, ConnectionVersion: 7,
		Provider: "direct", AccountOwner: "none", AccountVersion: "k=9", Profile: "sha256=ab"}
	if got, ok := Parse(b.Fingerprint()); !ok || got != b {
		t.Errorf("read back as %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "agent=a", b.Fingerprint() + " x=y", "grants=3 " + b.Fingerprint(),
		Binding{GrantsVersion: 1}.Fingerprint() + " ", "agent=a grants=+1 capability= connection= version=0 provider= account= account_version= profile="} {
		if got, ok := Parse(bad); ok {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
}
