// This file is checkpoints: where the chain stood at a time, told to places that who writes to the database cannot reach.
package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"
)

// Checkpoint says that a chain stood at a head at a time.
type Checkpoint struct {
	Head
	At time.Time
	// Install is the install's label; empty in the database's own rows.
	Install string
}

// String is a checkpoint as one line of a log, a file or a letter; ReadCheckpoints finds it in any text.
func (c Checkpoint) String() string {
	install := c.Install
	if install == "" {
		install = "-"
	}
	return fmt.Sprintf("wayleave-audit-checkpoint install=%s link=%d at=%s hash=%s", install, c.Link, c.At.UTC().Format(time.RFC3339Nano), c.Hash)
}

// written is what String writes. A log may have put anything around it.
var written = regexp.MustCompile(`wayleave-audit-checkpoint install=(\S+) link=(\d{1,18}) at=(\S+) hash=([0-9a-f]{64})`)

const (
	// mostText is the most bytes of a text with checkpoints: a year of a busy install's log lines of them is a tenth of it.
	mostText = 1 << 30
	// mostLine is the most bytes of one line.
	mostLine = 1 << 20
)

// ErrNoCheckpoint says that a text has none.
var ErrNoCheckpoint = errors.New("there is no checkpoint in it: a line that has wayleave-audit-checkpoint install=… link=… at=… hash=…")

// ReadCheckpoints finds the checkpoints in a log, a file or anything else that has them, in its order.
func ReadCheckpoints(r io.Reader) ([]Checkpoint, error) {
	var found []Checkpoint
	lines := bufio.NewScanner(io.LimitReader(r, mostText))
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		for _, m := range written.FindAllSubmatch(lines.Bytes(), -1) {
			link, err := strconv.ParseInt(string(m[2]), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("the checkpoint %q: %w", m[0], err)
			}
			at, err := time.Parse(time.RFC3339Nano, string(m[3]))
			if err != nil {
				return nil, fmt.Errorf("the checkpoint %q: %w", m[0], err)
			}
			c := Checkpoint{Head: Head{link, string(m[4])}, At: at, Install: string(m[1])}
			if c.Install == "-" {
				c.Install = ""
			}
			found = append(found, c)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read checkpoints: %w", err)
	}
	if len(found) == 0 {
		return nil, ErrNoCheckpoint
	}
	return found, nil
}

// AppendTo gives a teller that writes checkpoints at the end of a file, one a line, and syncs each. The file belongs where
// another user, or another machine, owns it. One that cannot be written is an error now, and not at the first checkpoint.
func AppendTo(path string) (tell func(Checkpoint) error, err error) {
	add := func(line string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("the file of checkpoints: %w", err)
		}
		if line != "" {
			_, err = f.WriteString(line)
		}
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("the file of checkpoints: %w", err)
		}
		return nil
	}
	if err := add(""); err != nil {
		return nil, err
	}
	return func(c Checkpoint) error { return add(c.String() + "\n") }, nil
}
