package webfetch

import "github.com/wayleave/wayleave/internal/pace"

// The default bounds of Politeness for one host, by ruling of the product.
const (
	DefaultInFlight  = 4
	DefaultPerSecond = 10
)

// Politeness bounds what one agent asks of each host: so many requests in flight, and so many begun in any second.
// Every hop of a redirect chain counts. Whoever is over a bound waits, first come first served; the wait counts in the
// deadline of the fetch. Make one value an agent and share it between that agent's fetchers. It is safe for concurrent
// use.
type Politeness struct{ pace *pace.Pace }

// NewPoliteness makes the bounds of one agent: requests in flight and requests begun in a second, for each host.
// A bound of 0 or less is none.
func NewPoliteness(inFlight, perSecond int) *Politeness {
	return &Politeness{pace.New(inFlight, perSecond)}
}
