# cmake --install: see the packaging files beside this one.
