// Package picture draws a run as a space-time picture: one HTML file that needs
// nothing but a browser. Nodes are lanes, messages are arrows from their
// sending to their arrival, faults are bands over the lanes that they hit.
//
// It shows a window: up to WindowMax things from the beginning, a minute of a storm, or up to
// AroundMax around a violation, and the page says which. It leaves out heartbeats that arrive. It draws those that
// never do, since they explain why a node was given up. It judges nothing.
//
// Source: DESIGN.md, "The simulator". Lamport's diagrams, with time to the
// right: there are more moments than nodes.
//
// Invariants:
//
//	PICTURE-1 The page makes no request: no address of another host occurs in it.
//	PICTURE-2 The page has at most BytesMax bytes, whatever the messages hold.
//	PICTURE-3 Equal runs give equal bytes.
//	PICTURE-4 Text of a run cannot end the data: it is JSON without < > and &.
//
// Example:
//
//	r := picture.NewRecorder(picture.FromBeginning)
//	report := scenario.Run(scenarios.Options{Seed: 7, Observer: r})
//	err := r.Write(file, picture.About{Title: "steady, seed 7"})
//
// Read recorder.go, build.go, texts.go, write.go, then page.html.
package picture
