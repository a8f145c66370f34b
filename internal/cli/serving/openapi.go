// This file is `wayleave openapi`: the document of the HTTP API, without an install.
package serving

import (
	"bytes"
	"encoding/json"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/operatorapi"
)

// OpenAPI is the command.
type OpenAPI struct{}

// Run prints what GET /api/openapi.json serves, laid out.
func (c *OpenAPI) Run(s *cli.Session) error {
	document, err := operatorapi.Document(s.Build.Version)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, document, "", "  "); err != nil {
		return err
	}
	return s.Out.Print(out.String() + "\n")
}
