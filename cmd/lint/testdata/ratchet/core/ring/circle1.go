package ring

func f1() { f2() }
