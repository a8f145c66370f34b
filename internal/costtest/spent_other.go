//go:build !unix

package costtest

import "time"

func spent() (time.Duration, bool) { return 0, false }
