// This file is how people read the audit.
package audit

// Filter says which rows; empty fields mean any.
type Filter struct {
	Actor, Verb, Subject string
	// Before gives rows older than the one of this id, newest first; After gives rows younger than it, oldest first. One of
	// the two may be set; with neither, rows come from the newest on. For all from the oldest on, After is "audit_".
	Before, After string
	// Limit is the most rows: 1 to 500; 0 means 100, more means 500.
	Limit int
}

const (
	// DefaultLimit and MostLimit are of rows a page.
	DefaultLimit = 100
	MostLimit    = 500
)

// Bound gives the limit as it counts.
func (f Filter) Bound() int {
	switch {
	case f.Limit == 0:
		return DefaultLimit
	case f.Limit < 1:
		return 1
	}
	return min(f.Limit, MostLimit)
}
