// This file opens the socket by which processes of the same user reach the folder's owner: permission to the file is all
// the permission that there is.
package datafolder

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
)

const (
	socketFile = "owner.sock"
	// longestSocket is the longest path that all systems take for a socket.
	longestSocket = 100
)

// ListenPipe opens the owner's socket. It is in the folder, or where that path is too long for a socket in a private
// folder of its own among the temporary ones. remove takes it away.
func (f *Folder) ListenPipe() (l net.Listener, path string, remove func(), err error) {
	path, remove = filepath.Join(f.path, socketFile), func() {}
	if len(path) > longestSocket {
		folder, err := os.MkdirTemp("", "wayleave-")
		if err != nil {
			return nil, "", nil, fmt.Errorf("a place for the owner's socket: %w", err)
		}
		path, remove = filepath.Join(folder, socketFile), func() { _ = os.RemoveAll(folder) }
	}
	// What a process left that did not end in order: the owner's lock says that nobody listens there.
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, "", nil, fmt.Errorf("the owner's socket: %w", err)
	}
	// The folder lets nobody else in, so the moment between making the socket and its mode is not one.
	if l, err = net.Listen("unix", path); err != nil {
		remove()
		return nil, "", nil, fmt.Errorf("the owner's socket: %w", err)
	}
	if err := os.Chmod(path, fileMode); err != nil {
		_ = l.Close()
		remove()
		return nil, "", nil, fmt.Errorf("the owner's socket: %w", err)
	}
	return l, path, remove, nil
}
