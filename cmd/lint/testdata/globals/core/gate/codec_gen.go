package gate

var table = [3]int{1, 2, 3}
