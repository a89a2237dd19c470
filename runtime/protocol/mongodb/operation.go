package mongodb

import "hyperscale/core/workflow/bson"

// Operation is one command, compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	of     *bson.Template
	verb   verb
	cursor Cursor
}

// verb says what of an answer counts.
type verb uint8

const (
	verbRuns   verb = iota
	verbReads       // its answer is a cursor
	verbWrites      // its answer says how many documents it wrote
)

// Cursor is how an operation reads one.
type Cursor struct {
	Batch   int // documents that each getMore asks for; 0: the server decides
	Batches int // the cursor is killed behind so many; 0: it is read to its end
}

// Run makes an operation of any command. The template is the command with "$db".
func Run(command *bson.Template) *Operation { return &Operation{of: command} }

// Find makes an operation of a command whose answer is a cursor: find or aggregate.
func Find(command *bson.Template, c Cursor) *Operation {
	return &Operation{of: command, verb: verbReads, cursor: c}
}

// Write makes an operation of insert, update or delete.
func Write(command *bson.Template) *Operation { return &Operation{of: command, verb: verbWrites} }
