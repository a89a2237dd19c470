package docs

import _ "embed"

// Workflows is the manual of workflow files, in Markdown.
//
//go:embed workflows.md
var Workflows string
