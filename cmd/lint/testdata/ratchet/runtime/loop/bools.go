package loop

type three struct {
	a, b bool
	c    bool
	d    []bool
	e    *bool
}

type four struct {
	a, b bool
	c    bool
	stop bool
}
