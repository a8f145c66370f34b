// Package schema holds the tables of both databases as numbered migrations. A table is written once for each dialect,
// with the same names in the same order; a test compares them column by column.
package schema

import "embed"

// Files has the folders sqlite and postgres.
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
