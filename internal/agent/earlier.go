// This file takes over the agents and tokens that an earlier version kept in files of the data folder.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/wayleave/wayleave/internal/strictjson"
)

// Files is what taking over needs of a data folder; see package datafolder for what it promises.
type Files interface {
	Path() string // the folder, for messages
	Read(name string) ([]byte, fs.FileInfo, error)
}

const (
	agentsFile = "agents.json"
	// usesFile holds when each token was last used.
	usesFile = "token-use.json"
	version  = 1
)

// book is agents.json.
type book struct {
	Version int     `json:"version"`
	Agents  []Agent `json:"agents"`
	Tokens  []Token `json:"tokens"`
}

func readBook(files Files) (book, fs.FileInfo, error) {
	data, info, err := files.Read(agentsFile)
	if err != nil {
		return book{}, info, fmt.Errorf("read %s: %w", agentsFile, err)
	}
	b, err := parseBook(files, data)
	return b, info, err
}

func parseBook(files Files, data []byte) (book, error) {
	if data == nil {
		return book{Version: version}, nil
	}
	path := filepath.Join(files.Path(), agentsFile)
	var b book
	if err := strictjson.Decode(data, &b); err != nil {
		return book{}, fmt.Errorf("%s is damaged (%w), so nobody is let in; mend it, or move it away and make every agent and token anew", path, err)
	}
	if b.Version != version {
		return book{}, fmt.Errorf("%s has version %d, this program reads version %d; use the program that wrote it, or another folder", path, b.Version, version)
	}
	return b, nil
}

func readUses(files Files) (map[string]Use, error) {
	data, _, err := files.Read(usesFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", usesFile, err)
	}
	uses := make(map[string]Use)
	if data == nil {
		return uses, nil
	}
	if err := json.Unmarshal(data, &uses); err != nil {
		return nil, damagedUses(files, err)
	}
	return uses, nil
}

func damagedUses(files Files, err error) error {
	return fmt.Errorf("%s is damaged (%w); delete it: it only says when each token was last used", filepath.Join(files.Path(), usesFile), err)
}

// Earlier is what the files of an earlier version held, checked: each token has its agent's id, and each agent is there.
type Earlier struct {
	Agents []Agent
	Tokens []Token
}

// ImportedSuffix is what the name of a file gets once it was taken over.
const ImportedSuffix = ".imported"

// ErrNotImported says that a file of an earlier version lies beside a database that has agents already, so it was not
// read.
var ErrNotImported = errors.New("was written by an earlier version and is not read any more, since the database has agents of its own; move it away")

// Import takes over agents.json and token-use.json of a data folder, if the database has no agent yet, and renames them:
// tokens that an earlier version made keep working. It says whether it did. Where it was cut off before renaming, it
// renames now. A file that cannot be read is an error and changes nothing.
func (d *Directory) Import(ctx context.Context, files Files, by string) (bool, error) {
	b, info, err := readBook(files)
	if err != nil {
		return false, err
	}
	if info == nil {
		dropLocks(files)
		return false, nil
	}
	uses, err := readUses(files)
	if err != nil {
		return false, err
	}
	e, err := b.check(uses)
	if err != nil {
		return false, fmt.Errorf("%s: %w; mend it, or move it away", filepath.Join(files.Path(), agentsFile), err)
	}
	did, err := d.rows.Import(ctx, e, by)
	if err != nil {
		return false, err
	}
	if !did {
		if err := d.imported(ctx, e); err != nil {
			return false, fmt.Errorf("%s %w", filepath.Join(files.Path(), agentsFile), err)
		}
	}
	err = errors.Join(setAside(files, agentsFile), setAside(files, usesFile))
	dropLocks(files)
	return did, err
}

// dropLocks removes what the earlier version locked while it changed its files. One that cannot be removed is in nobody's
// way.
func dropLocks(files Files) {
	for _, name := range []string{agentsFile, usesFile} {
		_ = os.Remove(filepath.Join(files.Path(), name+".lock"))
	}
}

var hexHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check fills in what the rows need beyond the files.
func (b book) check(uses map[string]Use) (Earlier, error) {
	e := Earlier{Tokens: b.Tokens}
	ids := make(map[string]string)
	add := func(a Agent) error {
		if err := CheckSlug(a.Slug); err != nil {
			return err
		}
		if ids[a.Slug] == "" {
			a.ID, a.Name = newID(agentID), a.Slug
			ids[a.Slug] = a.ID
			e.Agents = append(e.Agents, a)
		}
		return nil
	}
	for _, a := range b.Agents {
		if err := add(a); err != nil {
			return Earlier{}, err
		}
	}
	seen := make(map[string]bool)
	for i := range e.Tokens {
		t := &e.Tokens[i]
		if err := add(Agent{Slug: t.Agent, Created: t.Created}); err != nil {
			return Earlier{}, err
		}
		if _, err := ParseScope(string(t.Scope)); err != nil {
			return Earlier{}, err
		}
		if t.ID == "" || !hexHash.MatchString(t.Hash) || seen[t.ID] || seen[t.Hash] {
			return Earlier{}, fmt.Errorf("token %d has no id or hash of its own", i+1)
		}
		seen[t.ID], seen[t.Hash] = true, true
		t.AgentID, t.LastUse = ids[t.Agent], uses[t.ID]
	}
	return e, nil
}

// imported says whether all that the files hold is in the database.
func (d *Directory) imported(ctx context.Context, e Earlier) error {
	agents, tokens, err := d.List(ctx, nil)
	if err != nil {
		return err
	}
	have := make(map[string]bool)
	for _, a := range agents {
		have[a.Slug] = true
	}
	for _, t := range tokens {
		have[t.ID] = true
	}
	for _, a := range e.Agents {
		if !have[a.Slug] {
			return ErrNotImported
		}
	}
	for _, t := range e.Tokens {
		if !have[t.ID] {
			return ErrNotImported
		}
	}
	return nil
}

func setAside(files Files, name string) error {
	path := filepath.Join(files.Path(), name)
	err := os.Rename(path, path+ImportedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
