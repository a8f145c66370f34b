package webfetch

// Check says whether Fetch would refuse a request as it stands, before anything is looked up or sent: nil, or the
// *Error that Fetch would give. A request that passes may still be refused by the address that its host turns out to
// have, and by a robots.txt that was not read yet. It is for a host that counts fetches and does not count refusals.
func (f *Fetcher) Check(req Request) error {
	t, bad := f.begin(trimURL(req.URL), req)
	if bad == nil && f.heeds(t.here()) {
		if v := f.robots.known(t.here()); v != nil && !v.Allowed {
			bad = t.disallowed(v)
		}
	}
	if bad != nil {
		return bad
	}
	return nil
}
