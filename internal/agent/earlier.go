// This file takes over the agents and tokens that an earlier version kept in files of the data folder.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Earlier is what the files of an earlier version held. Tokens have their agent's slug, and no agent id.
type Earlier struct {
	Agents []Agent
	Tokens []Token
}

// ImportedSuffix is what the name of a file gets once it was taken over.
const ImportedSuffix = ".imported"

// ErrNotImported says that files of an earlier version are there beside a database that has agents already, so they were
// not read.
var ErrNotImported = errors.New("was written by an earlier version and is not read any more, since the database has agents of its own; move it away")

// Import takes over agents.json and token-use.json of a data folder, if the database has no agent yet, and renames them:
// tokens made by an earlier version keep working. It says whether it did. Where it was cut off before renaming, it
// finishes.
func (d *Directory) Import(ctx context.Context, files Files, by string) (bool, error) {
	old := NewStore(files, nil)
	b, info, err := old.read()
	if err != nil || info == nil {
		return false, err
	}
	uses, err := old.uses()
	if err != nil {
		return false, err
	}
	for i := range b.Tokens {
		b.Tokens[i].LastUse = uses[b.Tokens[i].ID]
	}
	for i := range b.Agents {
		if err := CheckSlug(b.Agents[i].Slug); err != nil {
			return false, fmt.Errorf("%s: %w", old.path(agentsFile), err)
		}
		b.Agents[i].ID, b.Agents[i].Name = newID(agentID), b.Agents[i].Slug
	}
	did, err := d.rows.Import(ctx, Earlier{b.Agents, b.Tokens}, by)
	if err != nil {
		return false, err
	}
	if !did {
		if err := d.imported(ctx, b); err != nil {
			return false, fmt.Errorf("%s %w", old.path(agentsFile), err)
		}
	}
	return did, errors.Join(setAside(files, agentsFile), setAside(files, usesFile))
}

// imported says whether all that the files hold is in the database.
func (d *Directory) imported(ctx context.Context, b book) error {
	_, tokens, err := d.List(ctx, nil)
	if err != nil {
		return err
	}
	have := make(map[string]bool)
	for _, t := range tokens {
		have[t.ID] = true
	}
	for _, t := range b.Tokens {
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
