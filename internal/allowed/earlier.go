// This file takes over the list that an earlier version kept in a file of the data folder.
package allowed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wayleave/wayleave/internal/strictjson"
	"github.com/wayleave/wayleave/weburl"
)

// Files is what taking over needs of a data folder; see package datafolder for what it promises.
type Files interface {
	Path() string // the folder, for messages
	Read(name string) ([]byte, fs.FileInfo, error)
}

const (
	file    = "allowed.json"
	version = 1
)

// Host is one private host or network: HOST, HOST:PORT, CIDR or CIDR:PORT in weburl's spelling.
type Host struct {
	Host    string    `json:"host"`
	Agent   string    `json:"agent,omitempty"` // slug; empty: every agent
	AgentID string    `json:"-"`
	Created time.Time `json:"created"`
	By      string    `json:"-"` // as the audit names actors
}

type book struct {
	Version int    `json:"version"`
	Hosts   []Host `json:"hosts"`
}

func parse(files Files, data []byte) (book, error) {
	if data == nil {
		return book{Version: version}, nil
	}
	path := filepath.Join(files.Path(), file)
	var b book
	if err := strictjson.Decode(data, &b); err != nil {
		return book{}, fmt.Errorf("%s is damaged (%w), so no private host is allowed; mend it, or move it away and allow each host anew", path, err)
	}
	if b.Version != version {
		return book{}, fmt.Errorf("%s has version %d, this program reads version %d; use the program that wrote it, or another folder", path, b.Version, version)
	}
	for _, h := range b.Hosts {
		if _, err := weburl.ParsePermit(h.Host); err != nil {
			return book{}, fmt.Errorf("%s: %w, so no private host is allowed; take that entry out", path, err)
		}
	}
	return b, nil
}

// ImportedSuffix is what the name of the file gets once it was taken over.
const ImportedSuffix = ".imported"

// lockSuffix is that of the file which the earlier version locked while it changed its file. One that cannot be removed is
// in nobody's way.
const lockSuffix = ".lock"

// ErrNotImported says that the file of an earlier version lies beside a database that has a list already, so it was not
// read.
var ErrNotImported = errors.New("was written by an earlier version and is not read any more, since the database has a list of its own; move it away")

// Import takes over allowed.json of a data folder, if the database's list is empty, and renames it. agentID finds or
// makes an agent by its slug. It says whether it did. Where it was cut off before renaming, it renames now.
func (r *Register) Import(ctx context.Context, files Files, by string, agentID func(ctx context.Context, slug string) (string, error)) (bool, error) {
	data, info, err := files.Read(file)
	if err != nil {
		return false, err
	}
	path := filepath.Join(files.Path(), file)
	if info == nil {
		_ = os.Remove(path + lockSuffix)
		return false, nil
	}
	b, err := parse(files, data)
	if err != nil {
		return false, err
	}
	var hosts []Host
	for _, h := range b.Hosts {
		p, err := weburl.ParsePermit(h.Host)
		if err != nil {
			return false, err // cannot be: parse has read it
		}
		h.Host = p.String()
		if h.Agent != "" {
			if h.AgentID, err = agentID(ctx, h.Agent); err != nil {
				return false, fmt.Errorf("%s: %w", path, err)
			}
		}
		hosts = append(hosts, h)
	}
	did, err := r.rows.Import(ctx, hosts, by)
	if err != nil {
		return false, err
	}
	if !did {
		if err := r.imported(ctx, hosts); err != nil {
			return false, fmt.Errorf("%s %w", path, err)
		}
	}
	if err := os.Rename(path, path+ImportedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return did, err
	}
	_ = os.Remove(path + lockSuffix)
	return did, nil
}

// imported says whether all that the file holds is on the list.
func (r *Register) imported(ctx context.Context, hosts []Host) error {
	list, err := r.List(ctx)
	if err != nil {
		return err
	}
	have := make(map[[2]string]bool)
	for _, h := range list {
		have[[2]string{h.AgentID, h.Host}] = true
	}
	for _, h := range hosts {
		if !have[[2]string{h.AgentID, h.Host}] {
			return ErrNotImported
		}
	}
	return nil
}
