package ring

func f0() { f1() }
