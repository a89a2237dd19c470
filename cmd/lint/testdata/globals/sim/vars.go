package sim

var allowed = 1
