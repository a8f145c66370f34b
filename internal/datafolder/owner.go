// This file says which process serves from a folder: one at most, which notes where it serves.
package datafolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	ownerLock  = "owner.lock"
	serverFile = "server.json"
	// lockTries and lockPause are how long a start waits for a lock that a command only looked at.
	lockTries = 10
	lockPause = 20 * time.Millisecond
)

// ErrOwned says that another process owns the folder.
var ErrOwned = errors.New("the data folder is in use by another wayleave")

// Own makes the calling process the folder's one owner until release is called or the process ends. ErrOwned says
// that there is one already.
func (f *Folder) Own() (release func(), err error) {
	for range lockTries {
		if release, err = lock(filepath.Join(f.path, ownerLock)); !errors.Is(err, errLocked) {
			break
		}
		time.Sleep(lockPause)
	}
	if errors.Is(err, errLocked) {
		return nil, ErrOwned
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	// What a process left that did not end in order is not where this one serves.
	if err := f.withdraw(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Server is where the folder's owner serves.
type Server struct {
	URL    string `json:"url"`            // for clients
	Listen string `json:"listen"`         // the listener's own address and port
	Pipe   string `json:"pipe,omitempty"` // the socket for clients over pipes of the same user; empty where there is none
	User   string `json:"user,omitempty"` // the id of the process's user, as the system has it
	// Elsewhere says that its database is not the SQLite file of the folder.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Announce notes where the calling process, the folder's owner, serves; withdraw takes the note away. It is for the
// commands that work beside a server, and no secret.
func (f *Folder) Announce(s Server) (withdraw func() error, err error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if err := f.replace(serverFile, data); err != nil {
		return nil, fmt.Errorf("note where the server is: %w", err)
	}
	return f.withdraw, nil
}

func (f *Folder) withdraw() error {
	if err := os.Remove(filepath.Join(f.path, serverFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("take back where the server is: %w", err)
	}
	return nil
}

// Owner says whether a process owns the folder now, and where it serves; the zero Server where it has not said so. A
// note without an owner counts for nothing.
func (f *Folder) Owner() (at Server, owned bool, err error) {
	path := filepath.Join(f.path, ownerLock)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return Server{}, false, nil
	}
	release, err := lock(path)
	if err == nil {
		release()
		return Server{}, false, nil
	}
	if !errors.Is(err, errLocked) {
		return Server{}, false, fmt.Errorf("see who owns the data folder: %w", err)
	}
	data, _, err := f.Read(serverFile)
	if err != nil || data == nil {
		return Server{}, true, err
	}
	if err := json.Unmarshal(data, &at); err != nil {
		return Server{}, true, fmt.Errorf("read %s: %w", filepath.Join(f.path, serverFile), err)
	}
	return at, true, nil
}
