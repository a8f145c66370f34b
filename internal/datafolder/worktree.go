// This file keeps tokens out of repositories: a data folder inside a git work tree is refused unless git ignores it.
package datafolder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gitTimeout bounds the one question to git; a repository on a dead network disk must not hang a start.
const gitTimeout = 5 * time.Second

// refuseWorkTree says why abs, which need not be there yet, must not be a data folder, or nil.
func refuseWorkTree(abs string) error {
	top, inside := workTree(abs)
	if !inside {
		return nil
	}
	if abs == top {
		return fmt.Errorf("data folder %s is the top of a git work tree: its tokens would be committed; name another with --data", abs)
	}
	ignored, err := gitIgnores(top, abs)
	switch {
	case err != nil:
		return fmt.Errorf("data folder %s is inside the git work tree %s, and git could not say whether it is ignored (%w); name another with --data", abs, top, err)
	case !ignored:
		return fmt.Errorf("data folder %s is inside the git work tree %s and not ignored: its tokens would be committed; add it to .gitignore or name another with --data", abs, top)
	}
	return nil
}

// workTree finds the nearest folder at or above path that holds a .git entry (a folder, or a file in linked trees).
func workTree(path string) (string, bool) {
	// A symbolic link into a repository is inside it.
	dir := path
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = filepath.Join(real, path[len(dir):])
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			dir = path
			break
		}
		dir = parent
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// gitIgnores asks git. The child gets no variable that could hold a secret or point it at another repository, and
// runs no hook, monitor or pager.
func gitIgnores(top, path string) (bool, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return false, errors.New("git is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	// The slash at the end lets a pattern for folders match a folder that is not there yet.
	cmd := exec.CommandContext(ctx, git, "-C", top, "-c", "core.fsmonitor=false", "check-ignore", "-q", "--", path+"/")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return false, nil
	default:
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return false, fmt.Errorf("git check-ignore: %w: %s", err, first)
	}
}
