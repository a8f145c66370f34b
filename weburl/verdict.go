package weburl

// The verdict on one URL as data, for programs that ask without fetching.

// Verdict is what is said of one URL. It is written as one JSON object.
type Verdict struct {
	URL          string `json:"url"`                     // as given
	Verdict      string `json:"verdict"`                 // "allow" or "refuse"
	Code         string `json:"code,omitempty"`          // of a refusal: see [Kind.Code]
	CanonicalURL string `json:"canonical_url,omitempty"` // of what is allowed, without fragment
	Rule         Rule   `json:"rule,omitempty"`          // of a refusal
	Reason       string `json:"reason,omitempty"`        // of a refusal, one sentence
	Permit       string `json:"permit,omitempty"`        // of a refusal that a permit would lift: see [ParsePermit]
}

// Judge is [Policy.Check] as a [Verdict]. No name is resolved, so what is allowed here may still be refused when it is
// fetched, by the address that its name turns out to have.
func (p *Policy) Judge(raw string) Verdict {
	u, err := p.check(raw)
	if err != nil {
		return Verdict{URL: raw, Verdict: "refuse", Code: err.Kind.Code(), Rule: err.Rule, Reason: err.Reason, Permit: err.Permit}
	}
	return Verdict{URL: raw, Verdict: "allow", CanonicalURL: u.href}
}
