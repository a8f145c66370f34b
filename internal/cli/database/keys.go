// This file is `wayleave keys`: how the keys of an install are, and changing them.
package database

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/keystore"
)

// Keys is the command.
type Keys struct {
	Status KeysStatus `cmd:"" default:"withargs" help:"Say how the keys are (what keys alone does)."`
	Rotate KeysRotate `cmd:"" help:"Make a new key: everything is sealed with it from now on, and what is there is sealed anew."`
	Rewrap KeysRewrap `cmd:"" help:"Make a new master key, and put the keys under it. The old one is kept beside it: earlier backups open with it alone."`
	Export KeysExport `cmd:"" help:"Write the master key to a file under a passphrase, to keep elsewhere."`
	Import KeysImport `cmd:"" help:"Put the master key of an export in its place."`
}

// KeysStatus is the command.
type KeysStatus struct {
	place.DataFlags
	Deep bool `setting:"-" help:"Open every sealed value there is, and count those that do not open. Takes its time."`
	JSON bool `setting:"-" help:"As JSON: master, keyset, sealed, findings."`
}

type keysReport struct {
	Master struct {
		Where       string `json:"where"`
		Mode        string `json:"mode,omitempty"`
		Fingerprint string `json:"fingerprint,omitempty"`
		Beside      bool   `json:"beside_the_data"`
	} `json:"master"`
	Keyset  string    `json:"keyset,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Under   string    `json:"under,omitempty"` // fingerprint of the master key
	Primary string    `json:"primary,omitempty"`
	Old     []string  `json:"old"`
	Sealed  struct {
		Present int64  `json:"present"`
		Older   int64  `json:"older"`
		Lost    int64  `json:"lost"`
		Opened  *int64 `json:"opened,omitempty"`
		Damaged *int64 `json:"damaged,omitempty"`
	} `json:"sealed"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Level keystore.Level `json:"level"`
	Text  string         `json:"text"`
}

// Run reports. It works where nothing opens.
func (c *KeysStatus) Run(s *cli.Session) error {
	db, o, err := c.Bare(s)
	if err != nil {
		return err
	}
	defer db.Close()
	st, err := keystore.Examine(s.Ctx, db, install.Masters(o), o.Folder.Path())
	if err != nil {
		return err
	}
	var r keysReport
	r.Master.Where, r.Master.Mode, r.Master.Fingerprint, r.Master.Beside = st.Master.Where, st.Master.Mode, st.Master.Fingerprint, st.Master.Beside
	r.Keyset, r.Since, r.Under, r.Primary, r.Old = st.Keyset, st.Since, st.Under, st.Primary, append([]string{}, st.Old...)
	r.Sealed.Present, r.Sealed.Older, r.Sealed.Lost = st.Present, st.Older, st.Lost
	bad := false
	for _, f := range st.Findings() {
		r.Findings = append(r.Findings, finding{f.Level, f.Text})
		bad = bad || f.Level == keystore.Bad
	}
	if c.Deep && !bad {
		found, err := c.deep(s, &r)
		if err != nil {
			return err
		}
		r.Findings = append(r.Findings, found)
		bad = found.Level == keystore.Bad
	}
	if c.JSON {
		err = s.Out.JSON(r)
	} else {
		for _, f := range r.Findings {
			s.Out.Printf("%-4s  %s\n", f.Level, f.Text)
		}
		s.Out.Printf("sealed values: %d under the present key, %d under older ones, %d under none that is there\n", r.Sealed.Present, r.Sealed.Older, r.Sealed.Lost)
	}
	if err == nil && bad {
		return cli.ErrTold
	}
	return err
}

func (c *KeysStatus) deep(s *cli.Session, r *keysReport) (finding, error) {
	in, err := c.Look(s)
	if err != nil {
		return finding{}, err
	}
	defer in.Close()
	done := s.Err.Progress("opening everything that is sealed")
	opened, damaged, at, err := in.Keys.Verify(s.Ctx)
	done()
	if err != nil {
		return finding{}, err
	}
	r.Sealed.Opened, r.Sealed.Damaged = &opened, &damaged
	if damaged > 0 {
		return finding{keystore.Bad, fmt.Sprintf("%d sealed values do not open; the first is %v. A backup may have them", damaged, at[0])}, nil
	}
	return finding{keystore.OK, fmt.Sprintf("all %d sealed values open", opened)}, nil
}

// KeysRotate is the command.
type KeysRotate struct {
	place.DataFlags
	Finish bool `setting:"-" help:"Make no new key: seal anew what is under old keys, and drop these. Waits until no process can still seal with them, five minutes at most."`
	Alone  bool `setting:"-" help:"With --finish: nothing else has the database open, so do not wait. Refused while the data folder is in use."`
	GiveUp bool `setting:"-" help:"With --finish: drop old keys although values under them are damaged; these are lost, as they were before."`
	JSON   bool `setting:"-" help:"As JSON: primary, old, resealed, damaged, dropped."`
}

// Run rotates.
func (c *KeysRotate) Run(s *cli.Session) error {
	if (c.Alone || c.GiveUp) && !c.Finish {
		return cli.Misused("--alone and --give-up go with --finish")
	}
	if c.Alone && c.DataFlags.Database != "" {
		return cli.Misused("--alone is for SQLite: who else has a PostgreSQL database open cannot be seen from here")
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	_, served, err := in.Folder.Owner()
	if err != nil {
		return err
	}
	if c.Alone {
		release, err := in.Folder.Own()
		if errors.Is(err, datafolder.ErrOwned) {
			return fmt.Errorf("--alone: %w; stop it, or leave --alone out", err)
		}
		if err != nil {
			return err
		}
		defer release()
	}
	var p keystore.Progress
	if c.Finish {
		p, err = c.finish(s, in)
	} else if err = in.Keys.Rotate(s.Ctx, place.ByCLI); err == nil {
		p.Primary = in.Keys.Keys().Primary()
	}
	if err != nil && !errors.Is(err, keystore.ErrDamaged) {
		return err
	}
	if c.JSON {
		return errors.Join(s.Out.JSON(map[string]any{"primary": p.Primary, "old": append([]string{}, p.Old...), "resealed": p.Resealed, "damaged": p.Damaged, "dropped": p.Dropped}), err)
	}
	for _, at := range p.At {
		s.Out.Printf("does not open: %v\n", at)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; a backup may have them, and --give-up does without", err)
	case c.Finish:
		s.Out.Printf("done: everything is under key %s, older keys are dropped; %s sealed anew here\n", p.Primary, cli.Many(int(p.Resealed), "value was", "values were"))
	case served || c.DataFlags.Database != "":
		s.Out.Printf("done: key %s seals from now on, and nothing else is to be done: a running server seals the rest anew and drops the old key in some five minutes; `%s keys%s` shows it\n",
			p.Primary, place.CalledAs(), c.Again())
	default:
		s.Out.Printf("key %s seals from now on. No server runs: the next one seals the rest anew and drops the old key, or do it now: `%s keys rotate --finish%s` (five minutes at most)\n",
			p.Primary, place.CalledAs(), c.Again())
	}
	return nil
}

func (c *KeysRotate) finish(s *cli.Session, in *install.Install) (keystore.Progress, error) {
	done := s.Err.Progress("sealing anew, and waiting until no process seals with an old key")
	defer done()
	return in.Keys.Finish(s.Ctx, keystore.Finishing{Alone: c.Alone, GiveUp: c.GiveUp})
}

// KeysRewrap is the command.
type KeysRewrap struct {
	place.DataFlags
	To   string `setting:"-" help:"Put the new master key into this file, which is made unless it has a key already, for --key-file from now on. Default: it takes the place of the old one." placeholder:"FILE"`
	JSON bool   `setting:"-" help:"As JSON: fingerprint, where."`
}

// Run changes the master key.
func (c *KeysRewrap) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	fingerprint, where := "", in.Masters.Where()
	was, _ := in.Masters.Master() // a locked install is refused below
	if c.To == "" {
		fingerprint, err = in.Keys.Rewrap(s.Ctx, place.ByCLI)
	} else {
		to := keyfile.New(c.To, secret.Value{})
		m, made, mistake := to.Make()
		if mistake != nil {
			return mistake
		}
		fingerprint, where = m.Fingerprint(), to.Where()
		if err = in.Keys.RewrapTo(s.Ctx, m, place.ByCLI); err != nil && made {
			err = errors.Join(err, to.Forget(m))
		}
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(map[string]string{"fingerprint": fingerprint, "where": where})
	}
	s.Out.Printf("the keys are under master key %s now, in %s\n", fingerprint, where)
	if c.To != "" {
		s.Err.Printf("every server and command needs --key-file %s (or WAYLEAVE_KEY_FILE) from now on; those that run go on until they are started anew. The old key opens older backups: keep it while you keep those\n", place.ShellWord(place.Absolute(c.To)))
	}
	s.Err.Printf("an earlier `keys export` has the old key: export anew. Backups that were made before open with the old key alone\n")
	if old, kept := in.Masters.Old(was.Fingerprint()); kept && c.To == "" {
		s.Err.Printf("the old key is kept in %s; remove it once no backup of before is kept, or take it to where the backups are\n", old)
	}
	return nil
}

// KeysExport is the command.
type KeysExport struct {
	place.DataFlags
	File           string `arg:"" help:"The file, which must not be there yet; - for standard output."`
	PassphraseFile string `setting:"-" help:"Take the passphrase from the first line of this file; - for standard input. Default: it is asked for." placeholder:"FILE"`
	JSON           bool   `setting:"-" help:"As JSON: fingerprint, file."`
}

// Run exports.
func (c *KeysExport) Run(s *cli.Session) error {
	if c.JSON && c.File == "-" {
		return cli.Misused("--json and - both want standard output")
	}
	db, o, err := c.Bare(s)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := os.Stat(c.File); err == nil && c.File != "-" {
		return fmt.Errorf("%s is there already, and may be the only copy of a key; name another file", c.File)
	}
	passphrase, err := s.Passphrase("a passphrase for the export (12 characters or more)", c.PassphraseFile, true)
	if err != nil {
		return err
	}
	var text strings.Builder
	fingerprint, err := keystore.Export(s.Ctx, db, install.Masters(o), &text, passphrase, place.ByCLI)
	if err != nil {
		return err
	}
	if c.File == "-" {
		return s.Out.Print(text.String())
	}
	if err := create(c.File, text.String()); err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(map[string]string{"fingerprint": fingerprint, "file": c.File})
	}
	s.Out.Printf("master key %s is in %s, under the passphrase (an age file): keep both apart from the data, and from each other\n", fingerprint, c.File)
	return nil
}

// create writes a file that must not be there, readable by its owner alone, whole or not at all.
func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// KeysImport is the command.
type KeysImport struct {
	place.DataFlags
	File           string `arg:"" help:"The export; - for standard input."`
	PassphraseFile string `setting:"-" help:"Take the passphrase from the first line of this file. Default: it is asked for." placeholder:"FILE"`
	JSON           bool   `setting:"-" help:"As JSON: fingerprint, where."`
}

// Run imports. The data folder is made where it is not there: a key may come before its database.
func (c *KeysImport) Run(s *cli.Session) error {
	if c.File == "-" && c.PassphraseFile == "-" {
		return cli.Misused("the export and the passphrase cannot both come from standard input")
	}
	folder, err := c.Folder(s)
	if err != nil {
		return err
	}
	o := c.Where(s, folder)
	db, err := place.Existing(s, o)
	if err != nil && !errors.Is(err, place.ErrNoDatabase) {
		return err
	}
	if db != nil {
		defer db.Close()
	}
	from := s.In
	if c.File != "-" {
		f, err := cli.Open(s.Ctx, c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, 1<<20))
	if err != nil {
		return err
	}
	passphrase, err := s.Passphrase("the passphrase of the export", c.PassphraseFile, false)
	if err != nil {
		return err
	}
	masters := install.Masters(o)
	fingerprint, err := keystore.Import(s.Ctx, db, masters, strings.NewReader(string(text)), passphrase)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(map[string]string{"fingerprint": fingerprint, "where": masters.Where()})
	}
	s.Out.Printf("master key %s is in %s\n", fingerprint, masters.Where())
	return nil
}
