package ring

func f5() { f6() }
