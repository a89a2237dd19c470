// Package statement reads statements of SQL as far as a file's author can learn what is missing: the
// places that want a value.
//
// It is not a parser: it knows texts, names in quotes and comments, and nothing of a grammar. What it
// counts is compared with the arguments when a file is loaded; the server has the last word.
// Source: "Lexical Structure" of PostgreSQL's manual, and of MySQL's.
//
// Example:
//
//	statement.Marks("select ? from t where a = '?'")       // 1
//	statement.Parameters("select $2 from t where a = '$3'") // 2
//
// Read marks.go, parameters.go.
package statement
