// This file holds values that flags, variables and keys of the configuration file share.
package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Duration is a time with a unit, or a number of milliseconds: the option is named timeout_ms elsewhere. Under its short
// name a small bare number is refused, for whoever writes 20 there means seconds.
type Duration time.Duration

const leastBare = 1000

// UnmarshalText reads a flag, variable or key.
func (d *Duration) UnmarshalText(text []byte) error {
	if ms, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		if ms > int64(1<<62)/int64(time.Millisecond) || ms < 0 {
			return fmt.Errorf("%d ms is out of range", ms)
		}
		if ms > 0 && ms < leastBare {
			return fmt.Errorf("%d would be milliseconds: write %ds for seconds, or %dms", ms, ms, ms)
		}
		*d = Duration(time.Duration(ms) * time.Millisecond)
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 30s or 500ms", text)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// timeoutMS is the long name of --timeout, under which a bare number has its unit in the name.
const timeoutMS = "timeout-ms"

// withUnit gives a bare number the unit that its flag's name says.
func withUnit(flag, value string) string {
	if _, err := strconv.ParseUint(value, 10, 63); err == nil && flag == timeoutMS {
		return value + "ms"
	}
	return value
}

// WithUnits is withUnit for a command line: kong does not say by which of its names a flag was given.
func WithUnits(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if value, ok := strings.CutPrefix(a, "--"+timeoutMS+"="); ok {
			out[i] = "--" + timeoutMS + "=" + withUnit(timeoutMS, value)
		}
		if a == "--"+timeoutMS && i+1 < len(out) {
			out[i+1] = withUnit(timeoutMS, out[i+1])
		}
	}
	return out
}

// Port is a port that may be asked for.
type Port uint16

// UnmarshalText reads a flag, variable or key.
func (p *Port) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 16)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is not a port from 1 to 65535", text)
	}
	*p = Port(n)
	return nil
}
