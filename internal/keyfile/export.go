// This file writes a master key out under a passphrase, as an age file in armor, and reads one back.
package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
)

const (
	// leastPassphrase is in characters: below it, guessing needs no more than patience.
	leastPassphrase = 12
	// workFactor is age's logarithm of scrypt's cost: about a second of one core for each guess.
	workFactor = 18
	// mostWorkFactor bounds what an export that somebody else made may cost here: about four seconds and 1 GiB.
	mostWorkFactor = 20
	// mostExport is the most bytes of an export that are read: one is below 1 KiB.
	mostExport = 64 << 10
)

// ErrPassphrase says that an export does not open under a passphrase.
var ErrPassphrase = errors.New("the passphrase is not the one of this export")

var errNoExport = errors.New("read the export: it is not an age file under a passphrase, or it is damaged")

// Export writes a key for people to keep elsewhere. note is one line that is readable once the export is open, such as
// when it was made and of which install. The error says what is wrong with the passphrase.
func Export(w io.Writer, m seal.Master, passphrase secret.Value, note string) error {
	return export(w, m, passphrase, note, workFactor)
}

func export(w io.Writer, m seal.Master, passphrase secret.Value, note string, cost int) error {
	if m.Zero() {
		return ErrMissing
	}
	if n := utf8.RuneCountInString(passphrase.Reveal()); n < leastPassphrase {
		return fmt.Errorf("the passphrase has %d characters; the least is %d", n, leastPassphrase)
	}
	recipient, err := age.NewScryptRecipient(passphrase.Reveal())
	if err != nil {
		return fmt.Errorf("export the master key: %w", err)
	}
	recipient.SetWorkFactor(cost)
	text := armor.NewWriter(w)
	plain, err := age.Encrypt(text, recipient)
	if err != nil {
		return fmt.Errorf("export the master key: %w", err)
	}
	_, err = fmt.Fprintf(plain, "# %s\n%s\n", strings.Join(strings.Fields(note), " "), m.Text().Reveal())
	if err = errors.Join(err, plain.Close(), text.Close()); err != nil {
		return fmt.Errorf("export the master key: %w", err)
	}
	return nil
}

// ExportNote is the line that Export takes, of an install's label and a time.
func ExportNote(install string, m seal.Master, at time.Time) string {
	return fmt.Sprintf("Wayleave master key %s of install %q, written %s", m.Fingerprint(), install, at.UTC().Format(time.RFC3339))
}

// Import reads an export. ErrPassphrase says that the passphrase is another one.
func Import(r io.Reader, passphrase secret.Value) (seal.Master, error) {
	identity, err := age.NewScryptIdentity(passphrase.Reveal())
	if err != nil {
		return seal.Master{}, fmt.Errorf("read the export: %w", err)
	}
	identity.SetMaxWorkFactor(mostWorkFactor)
	all, err := io.ReadAll(io.LimitReader(r, mostExport+1))
	if err == nil && len(all) > mostExport {
		err = fmt.Errorf("it is larger than %d bytes", mostExport)
	}
	if err != nil {
		return seal.Master{}, fmt.Errorf("read the export: %w", err)
	}
	var in io.Reader = bytes.NewReader(all)
	if bytes.HasPrefix(bytes.TrimSpace(all), []byte(armor.Header)) {
		in = armor.NewReader(in)
	}
	plain, err := age.Decrypt(in, identity)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return seal.Master{}, ErrPassphrase
	}
	if err != nil {
		return seal.Master{}, errNoExport // the cause would quote the file, which may be a bare key
	}
	text, err := io.ReadAll(io.LimitReader(plain, mostExport))
	if err != nil {
		return seal.Master{}, errNoExport
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			m, err := seal.ParseMaster(line)
			if err != nil {
				return seal.Master{}, fmt.Errorf("read the export: %w", err)
			}
			return m, nil
		}
	}
	return seal.Master{}, errors.New("read the export: there is no key in it")
}
