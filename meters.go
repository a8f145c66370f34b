// This file counts what the service does, for an operator's metrics. A label has one of a fixed set of words: no host,
// slug, address or name that anybody chose.
package wayleave

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
)

// meters are the metrics of one service.
type meters struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

// builtIn are the tools whose names are ours; what a profile names counts as an action.
var builtIn = map[string]bool{"web_search": true, "web_fetch": true, "browser_navigate": true, "browser_read": true, "browser_act": true, "browser_screenshot": true}

func newMeters(version string, l *ledger.Ledger) *meters {
	m := &meters{registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "wayleave_tool_calls_total", Help: "Tool calls by tool and result: ok, the code of an error, cancelled or internal_error."},
			[]string{"tool", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "wayleave_tool_call_seconds", Help: "How long tool calls took, waiting included.",
			Buckets: []float64{.005, .02, .1, .5, 1, 2, 5, 10, 30, 60}}, []string{"tool"})}
	gauge := func(name, help string, value func(ledger.Health) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(l.Health()) })
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "wayleave_build_info", Help: "1; the label says which version runs.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.calls, m.took, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("wayleave_calls_in_flight", "Calls that this process carries out.", func(h ledger.Health) float64 { return float64(h.InFlight) }),
		gauge("wayleave_clock_skew_seconds", "How far this process's clock is ahead of the database's.", func(h ledger.Health) float64 { return h.ClockSkew.Seconds() }),
		gauge("wayleave_may_send", "1 while this process hears the database and may send.", func(h ledger.Health) float64 {
			if h.Alive {
				return 1
			}
			return 0
		}))
	return m
}

// Metrics serves the service's metrics in Prometheus's format. It asks for no credential: mount it where only an
// operator's collector comes, never on the agents' listener.
func (s *Service) Metrics() http.Handler {
	return promhttp.HandlerFor(s.meters.registry, promhttp.HandlerOpts{})
}

// pipeline is what the doors call.
type pipeline interface {
	List(ctx context.Context, c tool.Caller) ([]agenttool.Tool, error)
	Call(ctx context.Context, c tool.Caller, name string, arguments json.RawMessage) (tool.Result, error)
	Answered(ctx context.Context, c tool.Caller, question, answer string) error
}

// counting gives a pipeline whose calls are counted.
func (m *meters) counting(p pipeline) pipeline { return countedPipeline{p, m} }

type countedPipeline struct {
	pipeline
	meters *meters
}

func (c countedPipeline) Call(ctx context.Context, who tool.Caller, name string, arguments json.RawMessage) (tool.Result, error) {
	began := time.Now()
	r, err := c.pipeline.Call(ctx, who, name, arguments)
	label, result := name, r.Code
	if !builtIn[name] {
		label = "action"
	}
	var fault *tool.Fault
	switch {
	case errors.Is(err, tool.ErrUnknownTool) || errors.Is(err, tool.ErrUnknownRun):
		label, result = "unknown", "not_found"
	case errors.Is(err, tool.ErrComeAgain):
		result = "asked"
	case errors.As(err, &fault):
		result = fault.Code
	case err != nil && ctx.Err() != nil:
		result = "cancelled"
	case err != nil:
		result = "internal_error"
	case result == "":
		result = "ok"
	}
	c.meters.calls.WithLabelValues(label, result).Inc()
	c.meters.took.WithLabelValues(label).Observe(time.Since(began).Seconds())
	return r, err
}
