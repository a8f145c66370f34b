// This file is `wayleave doctor`: what is set and from where, what holds, and what a person should look at. It changes
// nothing: what is not there yet is not made, and what needs a migration is not migrated.
package serving

import (
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/page"
	"github.com/wayleave/wayleave/internal/store/retention"
	"github.com/wayleave/wayleave/webfetch"
)

// probeTime bounds each look at the network.
const probeTime = 3 * time.Second

// Doctor is the command.
type Doctor struct {
	serveFlags
	JSON bool `setting:"-" help:"As JSON: version, settings, limits, checks."`
}

// Help says what a run of it means.
func (c *Doctor) Help() string {
	return "Give it the flags, variables and file that serve has. ok: it holds. info: so it is. warn: understand it, or change it. fail: serve would not start or not serve, or what is kept is in danger; then the exit code is 1."
}

// check is one line of the report.
type check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, info, warn or fail
	Detail string `json:"detail"`
}

type checkup struct {
	cli.Build
	Config   string        `json:"config_file,omitempty"`
	Settings []cli.Setting `json:"settings"`
	Limits   []cli.Setting `json:"limits"`
	Checks   []check       `json:"checks"`

	foreign bool // the data folder is another user's
}

func (d *checkup) add(name, status, format string, args ...any) {
	d.Checks = append(d.Checks, check{name, status, fmt.Sprintf(format, args...)})
}

// Run reports. It fails where a check does.
func (c *Doctor) Run(s *cli.Session) error {
	d := &checkup{Build: s.Build, Config: s.Settings.File, Settings: s.Settings.All, Limits: c.limits(s.Settings.All)}
	done := s.Err.Progress("looking")
	c.configuration(s, d)
	platform(d)
	folder := c.dataFolder(s, d)
	c.install(s, d, folder)
	c.egress(s.Ctx, d)
	c.certificates(s, d)
	c.listener(s.Ctx, d, folder)
	c.metrics(s.Ctx, d)
	memory(d)
	c.documents(s, d)
	done()
	if c.JSON {
		if err := s.Out.JSON(d); err != nil {
			return err
		}
	} else {
		d.print(s.Out)
	}
	for _, k := range d.Checks {
		if k.Status == "fail" {
			return cli.ErrTold
		}
	}
	return nil
}

func (d *checkup) print(out *cli.Output) {
	out.Printf("wayleave %s (%s, %s)\n", d.Version, d.Platform, d.Go)
	if d.Config != "" {
		out.Printf("configuration file: %s\n", d.Config)
	}
	out.Printf("\nsettings\n")
	columns(out, d.Settings)
	out.Printf("\nlimits\n")
	columns(out, d.Limits)
	out.Printf("\nchecks\n")
	for _, k := range d.Checks {
		out.Printf("  %-4s  %-12s %s\n", k.Status, k.Name, k.Detail)
	}
}

func columns(out *cli.Output, all []cli.Setting) {
	for _, set := range all {
		value := set.Value
		if value == "" {
			value = "-"
		}
		out.Printf("  %-20s %-28s %s\n", set.Name, value, set.Origin)
	}
}

// robots says whose robots.txt is obeyed, and whether a site can know us by it.
func (c *Doctor) robots(d *checkup) {
	choice, err := c.Obedience()
	if err != nil { // said under settings
		return
	}
	exempt := ""
	if n := len(choice.Ignored); n > 0 {
		exempt = fmt.Sprintf(", but for the %d of --robots-ignore", n)
	}
	switch {
	case choice.Obey:
		d.add("robots", "info", "each site's robots.txt is asked for first and obeyed%s", exempt)
	case len(choice.Obeyed) > 0:
		d.add("robots", "info", "no site's robots.txt is obeyed but those of the %d of --robots-obey", len(choice.Obeyed))
	default:
		d.add("robots", "info", "no site's robots.txt is obeyed; --robots obey does, --robots-obey for single sites")
		return
	}
	if userAgent := page.Or(c.UserAgent, webfetch.DefaultUserAgent); webfetch.RobotsProduct(userAgent) == "" {
		d.add("robots", "warn", "--user-agent begins with no name, so that only the rules for everybody count; one such as MyAgent/1.0 begins with one")
	} else {
		d.add("robots", "ok", "sites name this product as %s in a robots.txt", webfetch.RobotsProduct(userAgent))
	}
}

// limits are the library's options as they are in force, under the library's names, and how long what is kept.
func (c *Doctor) limits(set []cli.Setting) []cli.Setting {
	timeout := webfetch.DefaultTimeout
	if c.Timeout != nil {
		timeout = time.Duration(*c.Timeout)
	}
	limit := func(name string, value any) cli.Setting {
		out := cli.Setting{Name: name, Value: fmt.Sprint(value), Origin: "fixed"}
		for _, s := range set {
			if cli.Key(s.Name) == strings.TrimSuffix(name, "_ms") {
				out.Origin = s.Origin
			}
		}
		return out
	}
	kept := retention.Defaults()
	days := func(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }
	return []cli.Setting{
		limit("page_chars", page.Or(c.PageChars, webfetch.DefaultPageChars)),
		limit("max_body_bytes", page.Or(c.MaxBodyBytes, webfetch.DefaultMaxBodyBytes)),
		limit("timeout_ms", timeout.Milliseconds()),
		limit("max_redirects", page.Or(c.MaxRedirects, webfetch.DefaultMaxRedirects)),
		limit("user_agent", page.Or(c.UserAgent, webfetch.DefaultUserAgent)),
		limit("per_minute", c.PerMinute),
		limit("per_host", c.PerHost),
		limit("per_host_second", c.PerHostSecond),
		limit("max_bytes", fmt.Sprintf("%d, at most %d", webfetch.DefaultWindowBytes, webfetch.MaxWindowBytes)),
		limit("result_bytes", webfetch.MaxTextBytes),
		limit("keep_text", days(kept.Content)),
		limit("keep_rows_and_audit", days(kept.Rows)),
		limit("keep_refused_calls", days(kept.Refused)),
	}
}

// configuration checks what serve would refuse.
func (c *Doctor) configuration(s *cli.Session, d *checkup) {
	_, err := c.service(s.Ctx, s.Build)
	if err == nil {
		_, err = c.Front(s.Ctx)
	}
	if err == nil {
		_, err = page.Each("trusted-proxy", c.TrustedProxy, page.ParseNetwork)
	}
	if err == nil {
		err = c.metricsAddress()
	}
	if err != nil {
		d.add("settings", "fail", "%v", err)
		return
	}
	d.add("settings", "ok", "serve would take them")
	if c.AllowPrivateHosts {
		d.add("policy", "warn", "every private host may be read; --allow-host names single ones")
	}
	if len(c.AllowedHosts) == 0 {
		d.add("policy", "info", "any public host may be read, and so anything that an agent has seen can be carried out in an address; --allowed-hosts names the ones it may")
	}
	c.robots(d)
	if c.BehindProxy && len(c.TrustedProxy) == 0 {
		d.add("proxy", "info", "no --trusted-proxy: every caller seems to come from the proxy's address")
	}
}
