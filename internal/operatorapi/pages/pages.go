package pages

import (
	"log/slog"
	"net/http"
)

// New is a placeholder while the API is built.
func New(api http.Handler, log *slog.Logger) (http.Handler, error) {
	return http.NotFoundHandler(), nil
}
