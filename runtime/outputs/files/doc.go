// Package files is the output that keeps rows in files: lines of JSON or CSV that it appends to one, and folders with a file
// for each batch, which other formats have, too.
//
// It does not write results (runtime/report and runtime/export do).
//
// Invariants:
//
//	FILES-1 A file has whole rows alone once a batch is delivered, and after a crash all but the last one are
//	        whole. A delivery cuts a line that has no end; a check cuts nothing.
//	FILES-2 A batch that fails half-way leaves nothing: a repeated one does not stand there twice.
//	FILES-3 It appends to no file that has other lines than rows, and not while another process does.
//	FILES-4 A record of CSV has a cell for each column of the head, and gives back the row that it was made of.
//	FILES-5 A file of a folder appears whole or not at all. Its name follows from its rows: a repeated batch is one file, also
//	        of another process, and folders of several machines can be put together. A check removes what killed processes left unfinished.
//
// Read lines.go, csv.go, folder.go.
package files
