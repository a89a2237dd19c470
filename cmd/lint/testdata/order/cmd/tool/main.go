package main

func main() {
	for range map[string]int{} {
	}
}
