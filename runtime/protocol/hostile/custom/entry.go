package custom

// Entry is one behaviour.
type Entry struct {
	Name string
	body string
	Want
}

// Want is what a run with the program must say.
type Want struct {
	Before string // of the error that keeps the run from its clock; empty: it begins
	Kind   string // of its calls; empty: they are good
	Fault  string // of the error that ends the workflow; empty: it completes
	Log    string // of a line of the result; empty: it has none
	Late   bool   // it has late answers
}

// prelude has the words of the scripts.
const prelude = `#!/bin/sh
count=0
hello() { read -r hello; echo '{"hyperscale":1,"name":"hostile","measures":["rows"]}'; }
next() {
	while read -r line; do
		case $line in
		*'"call"'*) count=$((count+1)); id=${line#*\"id\":}; id=${id%%,*}; return;;
		*'"end"'*) echo '{"calls":'$count'}'; exit 0;;
		esac
	done
	exit 0
}
good() { echo '{"id":'$id',"ok":true,"body":"hi"}'; }
serve() { while next; do good; done; }
`

// Script is the text of the program.
func (e *Entry) Script() string { return prelude + e.body + "\n" }
