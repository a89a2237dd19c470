package node

// Tell is told how many a machine keeps of something, and how many its
// configuration lets it keep.
type Tell func(what string, n, bound int)

// Sizer is a machine that tells the sizes of all that others can make it keep: by
// what they send, and by what they leave unanswered. It changes nothing by telling.
type Sizer interface{ Sizes(tell Tell) }
