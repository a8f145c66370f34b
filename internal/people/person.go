// Package people knows who answers for the agents: owners, operators and viewers, how they sign in, and which agents
// each of them may see.
//
// The one rule: a person's secret is shown once and kept as a hash. Neither the database nor a copy of it signs anybody
// in.
package people

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Role is what a person may do.
type Role string

// The roles, each with the rights of those behind it.
const (
	Owner    Role = "owner"    // settings, people, all agents
	Operator Role = "operator" // answers, stops and changes the agents on their list
	Viewer   Role = "viewer"   // sees the agents on their list, changes nothing
)

// Roles are all roles, the mightiest first.
func Roles() []Role { return []Role{Owner, Operator, Viewer} }

// ParseRole reads a role; the error names the ones there are.
func ParseRole(s string) (Role, error) {
	if r := Role(s); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", fmt.Errorf("role %q is not one of owner, operator, viewer", clip(s))
}

// AtLeast says whether r has the rights of other. A role that is none has no rights.
func (r Role) AtLeast(other Role) bool {
	mine, theirs := slices.Index(Roles(), r), slices.Index(Roles(), other)
	return mine >= 0 && theirs >= 0 && mine <= theirs
}

// Agents is which agents a person may see: all, or those on a list of ids. The zero Agents is none.
type Agents struct {
	All  bool
	List []string
}

// Person is somebody who may sign in.
type Person struct {
	ID, Name    string
	Role        Role
	Agents      Agents // an owner's counts as all, whatever it is
	HasPassword bool
	Disabled    bool
	Created     time.Time
}

// Sees says whether a person may know of an agent, by its id. To one who may not, it is not there (404).
func (p Person) Sees(agent string) bool {
	switch {
	case p.Disabled || agent == "":
		return false
	case p.Role == Owner:
		return true
	case !p.Role.AtLeast(Viewer):
		return false
	}
	return p.Agents.All || slices.Contains(p.Agents.List, agent)
}

// Scope is the agents whose rows a person's lists may hold, as ids; nil means all, an empty list none.
func (p Person) Scope() []string {
	switch {
	case p.Disabled || !p.Role.AtLeast(Viewer):
		return []string{}
	case p.Role == Owner || p.Agents.All:
		return nil
	}
	return append([]string{}, p.Agents.List...)
}

// May says whether a person has the rights of a role for an agent: of a role alone where agent is empty.
func (p Person) May(role Role, agent string) bool {
	return !p.Disabled && p.Role.AtLeast(role) && (agent == "" || p.Sees(agent))
}

// MaxName is the longest name of a person, in characters.
const MaxName = 64

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]*$`)

// CheckName says what is wrong with a person's name: 1 to 64 lower-case letters, digits and . _ @ + -, the first a letter
// or digit. Other characters look alike too easily.
func CheckName(s string) error {
	if len(s) > MaxName || !name.MatchString(s) {
		return fmt.Errorf("name %q: a name is 1 to %d lower-case letters, digits and . _ @ + -, and begins with a letter or digit", clip(s), MaxName)
	}
	return nil
}

// clip bounds what somebody typed before it stands in an error.
func clip(s string) string {
	if len(s) > MaxName {
		return strings.ToValidUTF8(s[:MaxName], "") + "…"
	}
	return s
}

var (
	// ErrNotFound says that there is no such person or credential. One of another person's looks the same.
	ErrNotFound = errors.New("not found")
	// ErrDisabled says that a person cannot get a credential.
	ErrDisabled = errors.New("this person is disabled; an owner enables them")
	// ErrNameTaken says that another person has the name.
	ErrNameTaken = errors.New("the name is another person's")
	// ErrLastOwner says that a change would leave no owner who can sign in.
	ErrLastOwner = errors.New("this is the only owner; make another one first")
	// ErrUnknownAgent says that a list names an agent that is not there.
	ErrUnknownAgent = errors.New("the list names an agent that is not there")
)
