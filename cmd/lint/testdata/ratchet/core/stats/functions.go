package stats

type closure struct {
	then  func()
	table map[string][]func(func() int) func()
}

type hook func()

type named struct{ then hook }
