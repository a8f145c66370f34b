//go:build unix

// Package killtest ends processes in the middle of their work and looks at what is left: at every named point of a
// call's life, on both databases, with the world outside as an append-only file of what was sent.
//
// The one rule: the processes are real, the test's own binary started again, and they die by a signal that nothing can
// catch. What they did not write is not there.
package killtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// role is the variable that makes this binary one of the processes that are killed; it holds their orders.
const role = "WAYLEAVE_KILLTEST_ORDERS"

func TestMain(m *testing.M) {
	if text := os.Getenv(role); text != "" {
		var o orders
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = o.carryOut()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	agent = "agent_one"
	// The times of processes are short, so that a test need not wait for the dead.
	ttl   = time.Second
	beat  = 150 * time.Millisecond
	watch = 100 * time.Millisecond
	sweep = 200 * time.Millisecond
	flush = 20 * time.Millisecond
)

// kind is a tool of the tests: one of each class, each with a capability of its own.
type kind struct {
	Tool, Capability string
	Class            effect.Class
}

var (
	asks    = kind{"ask", "search", effect.Query}
	looks   = kind{"look", "read", effect.Observation}
	presses = kind{"press", "mail", effect.Effect}
	kinds   = []kind{asks, looks, presses}
)

func tools() []ledger.Tool {
	var all []ledger.Tool
	for _, k := range kinds {
		all = append(all, ledger.Tool{Name: k.Tool, Capability: k.Capability})
	}
	return all
}

// resolve is the rule of binding here: the install's connection says version, provider and limits.
func resolve(f binding.Facts, capability, tool, profile string) binding.Resolution {
	b := binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability, ConnectionOwner: binding.Install,
		Provider: "auto", AccountOwner: "none", Profile: profile, Meter: binding.Install}
	if c := f.Shared; c != nil {
		b.Provider, b.ConnectionVersion, b.RunLimit, b.MinuteLimit = c.Provider, c.Version, c.RunLimit, c.MinuteLimit
	}
	return binding.Resolution{Binding: b}
}

// install is where the processes of one test work.
type install struct {
	Dialect        sqldb.Dialect
	Address, World string
}

func (i install) open() (*sqldb.DB, error) {
	ctx, cancel := contextFor(10 * time.Second)
	defer cancel()
	if i.Dialect == sqldb.SQLite {
		return sqldb.OpenSQLite(ctx, i.Address, nil)
	}
	return sqldb.OpenPostgres(ctx, i.Address)
}

func rows(db *sqldb.DB, point func(string)) (*ledgerstore.Store, error) {
	return ledgerstore.New(db, key{}, resolve, ledgerstore.Options{Point: point})
}

func options(label string) ledger.Options {
	return ledger.Options{Label: label, Version: "test", DigestKey: bytes.Repeat([]byte{3}, 32), TTL: ttl, Beat: beat, Watch: watch, Sweep: sweep,
		Flush: flush, Wait: 3 * time.Second, Drain: 5 * time.Second}
}

// key seals with one key that all processes of a test share.
type key struct{}

func (key) aead() cipher.AEAD {
	block, err := aes.NewCipher(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		panic(err) // the key's length is right
	}
	a, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return a
}

func place(p seal.Place) []byte { return []byte(p.Table + "\x00" + p.Column + "\x00" + p.Row) }

func (k key) Seal(p seal.Place, plain []byte) ([]byte, error) {
	return k.aead().Seal(nil, nil, plain, place(p)), nil
}

func (k key) Open(p seal.Place, sealed []byte) ([]byte, error) {
	return k.aead().Open(nil, nil, sealed, place(p))
}
