package ftp

import (
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// verb is what an operation does.
type verb uint8

const (
	verbGet verb = iota
	verbPut
	verbList
	verbNames
	verbDelete
	verbRename
	verbMkdir
)

// command is the command that does it; RNTO follows RNFR.
func (v verb) command() string {
	return [...]string{"RETR", "STOR", "LIST", "NLST", "DELE", "RNFR", "MKD"}[v]
}

// transfers reports whether it has a data connection.
func (v verb) transfers() bool { return v <= verbNames }

// Operation is compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	verb verb
	path reply.Argument
	to   reply.Argument // of a rename
	data reply.Argument // of an upload
	raw  []byte         // the same, in place of data
}

// Get downloads a file.
func Get(path reply.Argument) *Operation { return &Operation{verb: verbGet, path: path} }

// Put uploads data, in which values may stand.
func Put(path, data reply.Argument) *Operation {
	return &Operation{verb: verbPut, path: path, data: data}
}

// PutBytes uploads bytes, which must not change.
func PutBytes(path reply.Argument, raw []byte) *Operation {
	return &Operation{verb: verbPut, path: path, raw: raw}
}

// List lists a directory: as the server writes it, or its names alone. An empty path is the current one.
func List(path reply.Argument, names bool) *Operation {
	if names {
		return &Operation{verb: verbNames, path: path}
	}
	return &Operation{verb: verbList, path: path}
}

// Delete deletes a file.
func Delete(path reply.Argument) *Operation { return &Operation{verb: verbDelete, path: path} }

// Rename renames a file or a directory.
func Rename(path, to reply.Argument) *Operation {
	return &Operation{verb: verbRename, path: path, to: to}
}

// Mkdir makes a directory.
func Mkdir(path reply.Argument) *Operation { return &Operation{verb: verbMkdir, path: path} }

// appendCommand appends a command with a path.
func appendCommand(dst []byte, word string, path reply.Argument, values [][]byte) ([]byte, *http1.Error) {
	dst = append(dst, word...)
	if start := len(dst) + 1; path != nil {
		dst = path.Fill(append(dst, ' '), values)
		if reply.Breaks(dst[start:]) {
			return dst, &http1.Error{Kind: http1.KindValue, Detail: "path: " + reply.Clip(dst[start:]) + " has a line break or a zero byte in it"}
		}
	}
	return append(dst, "\r\n"...), nil
}

// Show appends a line about an operation that goes out.
func (o *Operation) Show(dst []byte, values [][]byte) []byte {
	dst = o.path.Fill(append(append(dst, o.verb.command()...), ' '), values)
	if o.verb == verbRename {
		dst = o.to.Fill(append(dst, " RNTO "...), values)
	}
	return dst
}
