package binding

import (
	"strconv"
	"strings"
)

// Parse reads a fingerprint back; ok is false for any other text. What is not part of it (class, meter, limits) is zero.
func Parse(fingerprint string) (b Binding, ok bool) {
	var grants, version string
	fields := strings.Split(fingerprint, " ")
	into := []struct {
		name  string
		value *string
	}{{"agent", &b.Agent}, {"grants", &grants}, {"capability", &b.Capability}, {"connection", &b.ConnectionOwner}, {"version", &version},
		{"provider", &b.Provider}, {"account", &b.AccountOwner}, {"account_version", &b.AccountVersion}, {"profile", &b.Profile}}
	if len(fields) != len(into) {
		return Binding{}, false
	}
	for i, f := range into {
		if *f.value, ok = strings.CutPrefix(fields[i], f.name+"="); !ok {
			return Binding{}, false
		}
	}
	var err, err2 error
	b.GrantsVersion, err = strconv.ParseInt(grants, 10, 64)
	b.ConnectionVersion, err2 = strconv.ParseInt(version, 10, 64)
	if err != nil || err2 != nil || b.Fingerprint() != fingerprint {
		return Binding{}, false
	}
	return b, true
}
