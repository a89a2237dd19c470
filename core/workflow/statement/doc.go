// Package statement reads statements of SQL as far as a file's author can learn what is missing: the
// places that want a value.
//
// It is not a parser: it knows texts, names in quotes and comments, and nothing of a grammar. What it
// counts is compared with the arguments when a file is loaded; the server has the last word.
// Source: "Lexical Structure" of MySQL's manual.
//
// Example:
//
//	statement.Marks("select ? from t where a = '?'") // 1
//
// Read marks.go.
package statement
