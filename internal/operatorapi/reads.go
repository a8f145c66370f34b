// This file is how reading goes, host by host: how often a page came, and how often it was hardly the one asked for.
package operatorapi

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

type countingReads struct {
	Period
	Agent string `query:"agent" maxLength:"40" doc:"Slug of one agent."`
	Thin  bool   `query:"thin" doc:"Only hosts that gave thin pages."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

func (s *Server) registerReads() {
	gate.Handle(s.gate, "count-reads", func(ctx context.Context, v *gate.Visit, in *countingReads) (wire.ReadHosts, error) {
		agents, err := s.scoped(ctx, v, in.Agent)
		if err != nil {
			return wire.ReadHosts{}, err
		}
		if err := s.within(ctx, &in.Period); err != nil {
			return wire.ReadHosts{}, err
		}
		counted, err := s.d.Watch.Reads(ctx, agents, in.From, in.To)
		return ReadsOf(counted, in.From, in.To, in.Thin, in.Limit), err
	})
}

// ReadsOf sums counts up by host, the worst first, and keeps at most limit hosts.
func ReadsOf(counted []Reads, from, to time.Time, thinAlone bool, limit int) wire.ReadHosts {
	hosts := map[string]*wire.ReadHost{}
	for _, c := range counted {
		h := hosts[c.Host]
		if h == nil {
			h = &wire.ReadHost{Host: c.Host, Kinds: map[string]int64{}, Codes: map[string]int64{}}
			hosts[c.Host] = h
		}
		h.Reads += c.Calls
		if c.Thin != "" {
			h.Thin += c.Calls
			h.Kinds[c.Thin] += c.Calls
		}
		if c.Code != "" {
			h.Failed += c.Calls
			h.Codes[c.Code] += c.Calls
		}
		if last := c.Last.UTC(); last.After(h.Last) {
			h.Last = last
		}
	}
	out := wire.ReadHosts{From: from.UTC(), To: to.UTC(), Hosts: []wire.ReadHost{}}
	for _, h := range slices.SortedFunc(maps.Values(hosts), func(a, b *wire.ReadHost) int {
		return cmp.Or(cmp.Compare(b.Thin, a.Thin), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Reads, a.Reads), cmp.Compare(a.Host, b.Host))
	}) {
		switch {
		case thinAlone && h.Thin == 0:
		case len(out.Hosts) == limit:
			out.More = true
			return out
		default:
			out.Hosts = append(out.Hosts, *h)
		}
	}
	return out
}
